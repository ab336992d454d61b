// Keeps a widget that fails from taking the page with it.

import { Component, type ReactNode } from "react";
import { reason } from "../api/client";
import { Button } from "../parts/controls";
import { Notice } from "../parts/notice";

interface Props {
  what: string;
  children: ReactNode;
}

export class Boundary extends Component<Props, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <Notice kind="bad">
        <p>
          {this.props.what} failed: {reason(this.state.error).slice(0, 500)}
        </p>
        <Button onClick={() => this.setState({ error: null })} icon="reload">
          Show it again
        </Button>
      </Notice>
    );
  }
}
