/** One server-sent event: its name, and its data parsed from JSON. */
export interface ServerSentEvent {
  event: string;
  data: Record<string, unknown>;
}

/** Reads the events of a stream (HTML Living Standard, 9.2) as the proxy writes them: one line of data, lines ended by LF. */
export async function* serverSentEvents({ body }: Response): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body ?? []) {
    rest += decoder.decode(bytes as Uint8Array, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => fieldIn(line)));
      const [event, data] = [fields.get('event'), fields.get('data')];
      if (event !== undefined && data !== undefined) yield { event, data: JSON.parse(data) as ServerSentEvent['data'] };
    }
  }
}

function fieldIn(line: string): [name: string, value: string] {
  const place = line.indexOf(':');
  return [line.slice(0, place), line.slice(place + 1).replace(/^ /, '')];
}
