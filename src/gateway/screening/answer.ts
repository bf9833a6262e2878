import { SCREENED, Screened } from '../../journal/records';
import { readBounded } from '../../platform/bounded-text';
import { readStrictJson } from '../../platform/json/strict-json';

const VERDICTS = [...SCREENED, 'deny'] as const;

/** A verdict needs a few dozen bytes. */
const MAX_BYTES = 16_384;

/** An answer without a verdict. The message never quotes it. */
export class Unusable extends Error {}

/**
 * Reads the verdict of an answer: 200, and a JSON object with one `"verdict"`. Other members are ignored, because they may say
 * something about a person.
 * @throws Unusable, or what interrupted the answer.
 */
export async function readVerdict(response: Response): Promise<Screened | 'deny'> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Unusable(`status ${response.status}`);
  }
  const text = await readBounded(response, MAX_BYTES);
  if (text === undefined) throw new Unusable('too large');
  const verdict = verdictIn(text);
  if (verdict === undefined) throw new Unusable('no verdict');
  return verdict;
}

function verdictIn(text: string): Screened | 'deny' | undefined {
  try {
    const answer = readStrictJson(text) as { verdict?: unknown } | null;
    return VERDICTS.find((verdict) => verdict === answer?.verdict);
  } catch {
    return undefined;
  }
}
