import { Client, Connection, QueryConfig, QueryResult, Submittable } from 'pg';

type Answer = (error: Error | null, result: QueryResult) => void;
type Question = string | QueryConfig | Submittable;

/** A connection that runs statements with `askWithCallbacks`. */
interface Asking extends Client {
  /** Unlimited if undefined. */
  readonly answerWithinMs: number | undefined;
}

/**
 * `query` of pg's client, with pg's callbacks. Closes the connection if a statement is not answered in time.
 *
 * pg has promises and a `query_timeout` of its own. For both, it assigns a new function to the query: `query.callback = …`.
 * V8 takes a function that is assigned to a property for a method, and creates it in its old generation. There, it keeps
 * the query and all of its rows until the next full collection. Measured: docs/internals/decisions/0047.
 */
export function askWithCallbacks(this: Asking, question: Question, values?: unknown[] | Answer, answer?: Answer) {
  if (typeof values === 'function') return ask(this, question, undefined, inTime(this, values));
  if (answer) return ask(this, question, values, inTime(this, answer));
  if (typeof question === 'object' && 'submit' in question) return ask(this, question); // a COPY
  return new Promise((resolve, reject) => {
    const settle: Answer = (error, result) => (error ? reject(error) : resolve(result));
    ask(this, question, values, inTime(this, settle));
  });
}

/** Asks with pg's own `query`, whose types have one overload for each form of a question. */
function ask(client: Client, ...given: [question: Question, values?: unknown[], answer?: Answer]): unknown {
  const { query } = Client.prototype as unknown as { query: (this: Client, ...given: unknown[]) => unknown };
  return query.apply(client, given);
}

function inTime(client: Asking, answer: Answer): Answer {
  if (client.answerWithinMs === undefined) return answer;
  const { connection } = client as unknown as { connection: Connection }; // not in the types of pg
  const end = () => connection.stream.destroy(new Error('Query read timeout'));
  const timer = setTimeout(end, client.answerWithinMs);
  return (error, result) => {
    clearTimeout(timer);
    answer(error, result);
  };
}
