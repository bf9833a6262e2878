import { Answer, notSent } from './answer';

/** In doubt it is not sent: that can be made good, a payout cannot. */
export async function stopRefusal(isStopped: () => Promise<boolean>): Promise<Answer | undefined> {
  try {
    return (await isStopped()) ? notSent('stopped') : undefined;
  } catch {
    return notSent('stop_unknown');
  }
}
