// The viewer of a page with a profile inside: no server stands behind it.

import { begin } from "./page";

begin();
void import("../main");
