// Chooses the page.

import { useEffect } from "react";
import { useRouter } from "./router";
import { useProfile } from "./state/profile";
import { Minimap, Timeline } from "./timeline";

function ProfilePage({ id }: { id: string }) {
  const { status, error, load } = useProfile();
  useEffect(() => {
    void load(id);
  }, [id, load]);
  if (status === "failed") return <p className="bad">{error}</p>;
  if (status !== "ready") return <p>Loading</p>;
  return (
    <>
      <Minimap />
      <Timeline />
    </>
  );
}

export function App() {
  const { place } = useRouter();
  if (place.page === "profile") return <ProfilePage id={place.id} />;
  return <p>Profiles</p>;
}
