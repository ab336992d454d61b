// The viewer as a server gives it. The page with a profile inside begins in share/main.ts.

import { askIn } from "./timeline/tile-asker";
import "./main";

askIn(new Worker(new URL("./timeline/tile-worker.ts", import.meta.url), { type: "module", name: "tiles" }));
