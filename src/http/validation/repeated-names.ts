import { CooperativeTask } from '../../platform/cooperative-task';
import { FaultList, pointerTo } from './faults';

/** A string, with the colon that makes it a name, or a bracket or comma. Numbers and words are skipped. */
const TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\],]/gs;

/** Tokens read in one step, which takes about two milliseconds. */
const TOKENS_OF_STEP = 10_000;

interface OpenObject {
  /** The enclosing value. */
  within: OpenObject | undefined;
  /** The names of an object so far. */
  names?: Set<string>;
  /** The names that were already reported. */
  repeated?: Set<string>;
  /** The name or position of the next value. */
  key: string | number;
}

/**
 * Finds names that an object of a valid JSON text has more than once. Parsers take different values of them
 * (RFC 8259, section 4), and the proxy must not choose between two amounts.
 */
export function* findRepeatedNames(json: string, found: FaultList): CooperativeTask {
  const open: OpenObject[] = [];
  let tokens = 0;
  for (const [token, text, colon] of json.matchAll(TOKEN)) {
    const within = open.at(-1);
    if (token === '{' || token === '[') {
      open.push(token === '{' ? { within, names: new Set(), key: '' } : { within, key: 0 });
    } else if (token === '}' || token === ']') {
      open.pop();
    } else if (token === ',' && typeof within?.key === 'number') {
      within.key += 1;
    } else if (text !== undefined && colon !== undefined && within?.names) {
      note(within, nameIn(text), within.names, found);
    }
    tokens += 1;
    if (tokens % TOKENS_OF_STEP === 0) yield;
  }
}

/** Returns the name that a JSON string states. Most have no escapes. */
function nameIn(text: string): string {
  return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
}

function note(within: OpenObject, name: string, names: Set<string>, found: FaultList): void {
  within.key = name;
  if (names.has(name) && !within.repeated?.has(name)) {
    (within.repeated ??= new Set()).add(name);
    found.add(
      () => pointerOf(within),
      () => 'must be given only once',
    );
  }
  names.add(name);
}

/** Returns the pointer of the current value. */
function pointerOf({ within, key }: OpenObject): string {
  return pointerTo(within ? pointerOf(within) : '', key);
}
