import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { startRouter } from "./router";
import "./styles/theme.css";
import "./styles/base.css";
import "./styles/page.css";
import "./styles/tables.css";
import "./styles/widgets.css";

// The token of the printed link is a cookie now; it does not belong into links
// that are shared or histories that are kept.
const url = new URL(window.location.href);
if (url.searchParams.has("token")) {
  url.searchParams.delete("token");
  history.replaceState(null, "", url);
}
startRouter();
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
