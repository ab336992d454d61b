// A list of nodes with parents as a tree.

import type { TreeNode } from "../api/trees";

export interface Branch extends TreeNode {
  below: Branch[];
}

/** Nodes under their parents, in the order they came. One whose parent is not there stands on top. */
export function branches(nodes: readonly TreeNode[]): Branch[] {
  const known = new Map<number, Branch>();
  const top: Branch[] = [];
  for (const node of nodes) {
    const branch: Branch = { ...node, below: [] };
    known.set(node.node, branch);
    const parent = node.parent === null ? undefined : known.get(node.parent);
    (parent ? parent.below : top).push(branch);
  }
  return top;
}
