// Small drawings of 16 x 16, one path each. They are decoration: the control
// that has one has a name of its own.

const PATHS = {
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  chevron: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  left: "M10 4L6 8l4 4",
  maximise: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3",
  fit: "M2 8h12M2 8l3-3M2 8l3 3M14 8l-3-3M14 8l-3 3",
  download: "M8 2v8M5 7l3 3 3-3M3 13h10",
  upload: "M8 11V3M5 6l3-3 3 3M3 13h10",
  search: "M7 3a4 4 0 100 8 4 4 0 000-8zM10 10l3.5 3.5",
  gear: "M8 5.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M12.6 3.4l-1.4 1.4M4.8 11.2l-1.4 1.4",
  bell: "M4 11h8l-1-1.5V7a3 3 0 00-6 0v2.5zM7 13.2h2",
  spark: "M8 2l1.4 4.6L14 8l-4.6 1.4L8 14 6.6 9.4 2 8l4.6-1.4z",
  theme: "M8 2a6 6 0 100 12zM8 2a6 6 0 010 12",
  help: "M5.8 6a2.2 2.2 0 113.3 1.9C8.300 8.400 8 8.800 8 9.700M8 12.200v.2",
  undo: "M3 6h6a3.500 3.500 0 010 7H6M3 6l3-3M3 6l3 3",
  redo: "M13 6H7a3.500 3.500 0 000 7h3M13 6l-3-3M13 6l-3 3",
  trash: "M3 4.500h10M6 4.500V3h4v1.500M4.500 4.500l.7 9h5.600l.7-9M7 7v4M9 7v4",
  pencil: "M3 13l.6-2.600L10.500 3.500l2 2L5.600 12.400z",
  copy: "M6 6h7v7H6zM3 10V3h7",
  tree: "M3 3h4M5 3v10M5 7h4M5 12h4M10 7h3M10 12h3",
  compare: "M3 3h4v10H3zM9 3h4v10H9z",
  zoom: "M7 3a4 4 0 100 8 4 4 0 000-8zM10 10l3.500 3.500M7 5v4M5 7h4",
  reload: "M13 8a5 5 0 11-1.500-3.600M13 2.500V5h-2.500",
  list: "M3 4h10M3 8h10M3 12h10",
  focus: "M2 2h12v12H2z",
  star: "M8 2.200l1.800 3.700 4 .6-2.900 2.800.7 4L8 11.400l-3.600 1.900.7-4L2.200 6.500l4-.6z",
  folder: "M2 4h4l1.500 1.500H14V13H2z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 14 }: { name: IconName; size?: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
