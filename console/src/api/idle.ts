import { useEffect } from 'react';

/** The events of people who use a page. */
const DOINGS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const;

/** The storage key for the time of the last activity in any tab, in milliseconds since 1970. */
const LAST_DOING = 'payout-proxy.last-doing';

/** Often enough that nobody is signed out while working, and seldom enough to cost nothing. */
const NOTE_EVERY_MS = 5_000;
const LOOK_EVERY_MS = 10_000;

/** Calls `onIdle` once nobody has used any tab of the console for this long. */
export function useIdle(ms: number, onIdle: () => void): void {
  useEffect(() => {
    let noted = 0;
    const note = () => {
      if (Date.now() - noted < NOTE_EVERY_MS) return;
      noted = Date.now();
      localStorage.setItem(LAST_DOING, String(noted));
    };
    const look = () => {
      if (Date.now() - Number(localStorage.getItem(LAST_DOING)) >= ms) onIdle();
    };
    note(); // Signing in, or opening this tab, counts as activity.
    for (const doing of DOINGS) addEventListener(doing, note, { passive: true });
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => {
      for (const doing of DOINGS) removeEventListener(doing, note);
      clearInterval(timer);
    };
  }, [ms, onIdle]);
}
