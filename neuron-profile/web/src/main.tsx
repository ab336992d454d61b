import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import { startRouter } from "./router";
import "./styles/theme.css";
import "./styles/base.css";
import "./styles/page.css";
import "./styles/widgets.css";

startRouter();
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
