// Whether this page is a part of one that shows several profiles.

export const embedded = () => window.parent !== window;
