// The widgets: what each is for, and where its code is. One is loaded when it
// is first shown.

import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import DeviceTimeline from "../widgets/timeline";

export interface Widget {
  id: string;
  title: string;
  about: string;
  group: "Timeline" | "Events" | "Summary" | "Program" | "Memory" | "Profile";
  component: ComponentType | LazyExoticComponent<ComponentType>;
}

export const WIDGETS: readonly Widget[] = [
  { id: "timeline", title: "Device Timeline", group: "Timeline", about: "Engines, DMA and lines over time.", component: DeviceTimeline },
  {
    id: "hierarchy",
    title: "Hierarchy",
    group: "Timeline",
    about: "Layers and operators over time, one row for each level.",
    component: lazy(() => import("../widgets/hierarchy")),
  },
  {
    id: "system",
    title: "System Timeline",
    group: "Timeline",
    about: "Framework, runtime and hardware events of the host.",
    component: lazy(() => import("../widgets/system")),
  },
  {
    id: "search",
    title: "Search",
    group: "Events",
    about: "Events by fields, texts and regular expressions.",
    component: lazy(() => import("../widgets/search")),
  },
  {
    id: "details",
    title: "Event Details",
    group: "Events",
    about: "All fields of the event that was clicked, and what it depends on.",
    component: lazy(() => import("../widgets/details")),
  },
  {
    id: "chain",
    title: "Dependency Chain",
    group: "Events",
    about: "What an event waited for, back to the first.",
    component: lazy(() => import("../widgets/chain")),
  },
  {
    id: "annotations",
    title: "Annotations",
    group: "Events",
    about: "Marks in time, and what lies between them.",
    component: lazy(() => import("../widgets/annotations")),
  },
  {
    id: "regions",
    title: "Region Highlighter",
    group: "Events",
    about: "Regions found in the program, as annotations.",
    component: lazy(() => import("../widgets/regions")),
  },
  {
    id: "summary",
    title: "Overall Summary",
    group: "Summary",
    about: "All metrics of the execution by part of the core.",
    component: lazy(() => import("../widgets/summary")),
  },
  {
    id: "dashboard",
    title: "Performance",
    group: "Summary",
    about: "FLOPs, memory bandwidth and DMA at a glance.",
    component: lazy(() => import("../widgets/dashboard")),
  },
  {
    id: "selection",
    title: "Current Selection Summary",
    group: "Summary",
    about: "Metrics of the visible range, or of the box that was drawn.",
    component: lazy(() => import("../widgets/selection")),
  },
  {
    id: "recommendations",
    title: "Recommendations",
    group: "Summary",
    about: "What limits this profile, with the evidence.",
    component: lazy(() => import("../widgets/recommendations")),
  },
  {
    id: "roofline",
    title: "Roofline",
    group: "Summary",
    about: "Operators against the peaks of compute and memory.",
    component: lazy(() => import("../widgets/roofline")),
  },
  {
    id: "comparison",
    title: "Profile Comparison",
    group: "Summary",
    about: "Metrics and operators of this profile beside another.",
    component: lazy(() => import("../widgets/comparison")),
  },
  {
    id: "operators",
    title: "Operator Table",
    group: "Program",
    about: "Layers and operators with their time, FLOPs and bytes.",
    component: lazy(() => import("../widgets/operators")),
  },
  {
    id: "flame",
    title: "Flame View",
    group: "Program",
    about: "Where time goes, by layer, source or opcode.",
    component: lazy(() => import("../widgets/flame")),
  },
  {
    id: "code",
    title: "Code Editor",
    group: "Program",
    about: "Sources with what each line costs.",
    component: lazy(() => import("../widgets/code")),
  },
  {
    id: "tensors",
    title: "Tensor Viewer",
    group: "Memory",
    about: "Tensors of the program, and how often each is loaded.",
    component: lazy(() => import("../widgets/tensors")),
  },
  {
    id: "memory",
    title: "Memory Viewer",
    group: "Memory",
    about: "Use of SBUF, PSUM and device memory.",
    component: lazy(() => import("../widgets/memory")),
  },
  {
    id: "database",
    title: "Database Viewer",
    group: "Profile",
    about: "The tables of the profile, row by row.",
    component: lazy(() => import("../widgets/database")),
  },
  {
    id: "settings",
    title: "Settings",
    group: "Profile",
    about: "What the timeline shows, and how.",
    component: lazy(() => import("../widgets/settings")),
  },
];

export const widget = (id: string): Widget | undefined => WIDGETS.find((one) => one.id === id);
