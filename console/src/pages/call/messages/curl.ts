import type { CallTimeline } from '../../../api/generated/schema';

/** Path prefix of the interface. */
const PREFIX = '/api/v0.1';

/**
 * Returns the request as a curl command, with the API key as a shell variable. Undefined for refused
 * requests, whose bodies are not stored.
 * @param origin URL of the proxy.
 */
export function curlOf(
  { operation, request, idempotency_key }: CallTimeline,
  origin: string,
): string | undefined {
  if (!request) return undefined;
  const [method = 'GET', path = ''] = operation.split(' ');
  const query = request.query ? `?${request.query}` : '';
  const hasBody = request.body !== null && request.body !== undefined;
  const body = typeof request.body === 'string' ? request.body : JSON.stringify(request.body);
  return [
    `curl -sS -X ${method} ${quoted(`${origin}${PREFIX}${path}${query}`)}`,
    `-H "X-API-Key: $PAYOUT_PROXY_KEY"`,
    ...(idempotency_key === null ? [] : [`-H ${quoted(`Idempotency-Key: ${idempotency_key}`)}`]),
    ...(hasBody ? [`-H 'Content-Type: application/json'`, `--data-raw ${quoted(body)}`] : []),
  ].join(' \\\n  ');
}

/** Returns whether the call had an idempotency key that was erased or pruned. */
export function isKeyErased({ anomalies }: CallTimeline): boolean {
  return anomalies.some(({ code }) => code === 'idempotency_key_erased');
}

/** Returns the warnings about running the command. */
export function warningOf(timeline: CallTimeline, revealed: boolean): string {
  const { operation, idempotency_key } = timeline;
  const masked = revealed ? '' : ' People are masked in this command, so the proxy would reject it as it is.';
  if (operation.startsWith('GET ')) return `This call only reads.${masked}`;
  if (idempotency_key === null) {
    const why = isKeyErased(timeline)
      ? 'The Idempotency-Key of this call was erased.'
      : 'This call had no Idempotency-Key.';
    return `${why} Running this command makes a new request and may pay twice.${masked}`;
  }
  return (
    'This command contains the Idempotency-Key. With an API key of the same client, it returns the same ' +
    `response and nothing is paid twice. With another client's API key, it is a new payout.${masked}`
  );
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
