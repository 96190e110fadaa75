// Before anything is drawn, so that a dark page never flashes white.
(() => {
  const root = document.documentElement;
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch { /* storage may be closed to pages */ }
})();
