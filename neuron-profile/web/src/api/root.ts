// Where the interface is: below the page's own server, or, in a tab of
// TensorBoard, below the page itself, wherever that is.

function named(): string | null {
  if (typeof document === "undefined") return null;
  return document.querySelector<HTMLMetaElement>('meta[name="neuron-profile-api"]')?.content ?? null;
}

const own = named();

/** What paths of the interface begin with. */
export const ROOT = own ?? "/api/v1";

/** Whether this page is a tab of TensorBoard: there are no other pages then. */
export const inTensorBoard = own !== null;
