import { Client, Connection, QueryConfig, QueryResult, Submittable } from 'pg';

type Answer = (error: Error | null, result: QueryResult) => void;
type Ask = (question: string | QueryConfig | Submittable, values?: unknown[], answer?: Answer) => unknown;

/**
 * Runs the statements of a connection with callbacks, and closes the connection if one is not answered in time.
 *
 * pg has promises and a `query_timeout` of its own. For both, it assigns a new function to the query: `query.callback = …`.
 * V8 takes a function that is assigned to a property for a method, and creates it in its old generation. There, it keeps
 * the query and all of its rows until the next full collection. Measured: docs/internals/decisions/0047.
 */
export function askWithCallbacks(client: Client, answerWithinMs: number | undefined): void {
  const ask = client.query.bind(client) as unknown as Ask; // the types of pg have one overload for each form
  const { connection } = client as unknown as { connection: Connection }; // not in the types of pg
  const inTime = (answer: Answer): Answer => {
    if (answerWithinMs === undefined) return answer;
    const timer = setTimeout(() => connection.stream.destroy(new Error('Query read timeout')), answerWithinMs);
    return (error, result) => {
      clearTimeout(timer);
      answer(error, result);
    };
  };
  const query = (question: string | QueryConfig | Submittable, values?: unknown[] | Answer, answer?: Answer) => {
    if (typeof values === 'function') return ask(question, undefined, inTime(values));
    if (answer) return ask(question, values, inTime(answer));
    if (typeof question === 'object' && 'submit' in question) return ask(question); // a COPY
    return new Promise((resolve, reject) => {
      ask(
        question,
        values,
        inTime((error, result) => (error ? reject(error) : resolve(result))),
      );
    });
  };
  client.query = query as unknown as Client['query'];
}
