import { FastifyInstance, FastifyRequest } from 'fastify';
import { TaskRunner, CooperativeTask } from '../../platform/cooperative-task';

/** Elements written in one turn of the event loop: half a millisecond for records of calls. */
const IN_ONE_TURN = 20;

/**
 * Writes answers with long lists as JSON in several turns of the event loop. A page of 200 records takes some
 * seven milliseconds, and payments take their turns in between.
 */
export function writeLongLists(
  server: FastifyInstance,
  paceOf: (request: FastifyRequest) => TaskRunner,
): void {
  // With a callback: most answers have no long list, and would wait for a promise.
  server.addHook('preSerialization', (request, reply, payload, done) => {
    if (!hasLongList(payload)) return done(null, payload);
    reply.serializer(written);
    toJson(payload, paceOf(request)).then((json) => done(null, json), done);
  });
}

/** Returns JSON unchanged. Fastify accepts a buffer, too, but its types do not. */
const written = (json: unknown) => json as string;

function hasLongList(payload: unknown): payload is Record<string, unknown> {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload) || 'toJSON' in payload)
    return false;
  return Object.values(payload).some(isLong);
}

function isLong(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > IN_ONE_TURN;
}

/** Returns the output of JSON.stringify() in UTF-8. */
async function toJson(payload: Record<string, unknown>, pace: TaskRunner): Promise<Buffer> {
  const pieces: Buffer[] = [];
  await pace(writeObject(payload, pieces));
  return Buffer.concat(pieces);
}

function* writeObject(payload: Record<string, unknown>, pieces: Buffer[]): CooperativeTask {
  let before = '{';
  const write = (text: string) => pieces.push(Buffer.from(text));
  for (const [name, value] of Object.entries(payload)) {
    const label = `${before}${JSON.stringify(name)}:`;
    if (isLong(value)) {
      write(`${label}[`);
      yield* writeList(value, write);
      write(']');
    } else {
      const text = JSON.stringify(value) as string | undefined;
      if (text === undefined) continue; // JSON has no word for it
      write(label + text);
    }
    before = ',';
  }
  write('}');
}

function* writeList(list: unknown[], write: (text: string) => void): CooperativeTask {
  for (let from = 0; from < list.length; from += IN_ONE_TURN) {
    const piece = JSON.stringify(list.slice(from, from + IN_ONE_TURN)).slice(1, -1);
    write(from === 0 ? piece : `,${piece}`);
    yield;
  }
}
