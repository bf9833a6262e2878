import { useEffect } from 'react';

/** Events that count as activity. */
const ACTIVITY_EVENTS = ['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'] as const;

/** Storage key for the time of the last activity in any tab, in milliseconds since the epoch. */
const LAST_ACTIVITY = 'payout-proxy.last-activity';

/** Short enough that active users stay signed in, and long enough to cost nothing. */
const RECORD_EVERY_MS = 5_000;
const CHECK_EVERY_MS = 10_000;

/** Calls `onIdle` after this long without activity in any tab of the console. */
export function useIdle(ms: number, onIdle: () => void): void {
  useEffect(() => {
    let recordedAt = 0;
    const record = () => {
      if (Date.now() - recordedAt < RECORD_EVERY_MS) return;
      recordedAt = Date.now();
      localStorage.setItem(LAST_ACTIVITY, String(recordedAt));
    };
    const check = () => {
      if (Date.now() - Number(localStorage.getItem(LAST_ACTIVITY)) >= ms) onIdle();
    };
    record(); // Signing in, or opening this tab, counts as activity.
    for (const event of ACTIVITY_EVENTS) addEventListener(event, record, { passive: true });
    const timer = setInterval(check, CHECK_EVERY_MS);
    return () => {
      for (const event of ACTIVITY_EVENTS) removeEventListener(event, record);
      clearInterval(timer);
    };
  }, [ms, onIdle]);
}
