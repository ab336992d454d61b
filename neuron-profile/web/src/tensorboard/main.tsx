import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Boundary } from "../layout/boundary";
import { TensorBoardApp } from "./app";
import "../styles/theme.css";
import "../styles/base.css";
import "../styles/page.css";
import "../styles/tables.css";
import "../styles/widgets.css";
import "./tensorboard.css";

const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <Boundary what="The Neuron tab">
        <TensorBoardApp />
      </Boundary>
    </StrictMode>,
  );
