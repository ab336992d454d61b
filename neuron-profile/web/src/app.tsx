// Chooses the page.

import { ComparePage } from "./compare/page";
import { Boundary } from "./layout/boundary";
import { ProfilePage } from "./layout/page";
import { useTheme } from "./layout/theme";
import { ManagerPage } from "./manager/page";
import { Button } from "./parts/controls";
import { Notice } from "./parts/notice";
import { go, useRouter } from "./router";

function Page() {
  const { place } = useRouter();
  switch (place.page) {
    case "manager":
      return <ManagerPage />;
    case "profile":
      return <ProfilePage key={place.id} id={place.id} />;
    case "compare":
      return <ComparePage ids={place.ids} />;
    default:
      return (
        <main className="page centre">
          <Notice kind="bad">
            <p>There is no such page.</p>
            <Button onClick={() => go("/")}>All profiles</Button>
          </Notice>
        </main>
      );
  }
}

export function App() {
  useTheme();
  return (
    <Boundary what="This page">
      <Page />
    </Boundary>
  );
}
