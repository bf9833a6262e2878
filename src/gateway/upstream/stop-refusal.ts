import { Answer, notSent } from './answer';

/** If the stops cannot be read, the request is not sent. That can be corrected later, and a payout cannot. */
export async function stopRefusal(isStopped: () => Promise<boolean>): Promise<Answer | undefined> {
  try {
    return (await isStopped()) ? notSent('stopped') : undefined;
  } catch {
    return notSent('stop_unknown');
  }
}
