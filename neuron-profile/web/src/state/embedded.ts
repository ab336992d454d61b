// Whether this page is a part of one that shows several profiles.

import { inTensorBoard } from "../api/root";

export const embedded = () => window.parent !== window && !inTensorBoard;
