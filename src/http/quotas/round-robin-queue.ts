/** A queue in which each client, or each key, has its own line, and the lines take turns. */
export class RoundRobinQueue<Entry> {
  /** In the order of their next turns. No line is empty. */
  private readonly lines = new Map<string, Entry[]>();
  private length = 0;
  private taken = 0;

  /** @param roomOf returns the room that an entry takes. */
  constructor(private readonly roomOf: (entry: Entry) => number = () => 1) {}

  get size(): number {
    return this.length;
  }

  /** Room that all entries take. */
  get room(): number {
    return this.taken;
  }

  sizeOf(client: string): number {
    return this.lines.get(client)?.length ?? 0;
  }

  /** Number of lines. */
  get lineCount(): number {
    return this.lines.size;
  }

  /** Returns the number of entries whose turns come before that of a client's next new entry, at most. */
  aheadOf(client: string): number {
    const own = this.sizeOf(client);
    let ahead = own;
    for (const [other, line] of this.lines) if (other !== client) ahead += Math.min(line.length, own + 1);
    return ahead;
  }

  /** Returns the entries in the order of their turns. */
  inTurnOrder(): Entry[] {
    const entries: Entry[] = [];
    for (let round = 0; entries.length < this.length; round += 1) {
      for (const line of this.lines.values()) {
        const entry = line[round];
        if (entry !== undefined) entries.push(entry);
      }
    }
    return entries;
  }

  add(client: string, entry: Entry): void {
    const line = this.lines.get(client);
    if (line) line.push(entry);
    else this.lines.set(client, [entry]);
    this.count(entry, 1);
  }

  /** Takes the next entry of a client that may go. Its line goes to the end. */
  next(mayGo: (client: string) => boolean): Entry | undefined {
    for (const [client, line] of this.lines) {
      if (!mayGo(client)) continue;
      const entry = line.shift();
      this.lines.delete(client);
      if (line.length > 0) this.lines.set(client, line);
      if (entry !== undefined) this.count(entry, -1);
      return entry;
    }
    return undefined;
  }

  /** Whether a client's next entry goes before the last entry of the longest line. */
  maySqueezeIn(client: string): boolean {
    return this.sizeOf(this.longest()) > this.sizeOf(client) + 1;
  }

  /** Takes the newest entry of the longest line. */
  takeFromLongest(): Entry | undefined {
    const client = this.longest();
    const entry = this.lines.get(client)?.at(-1);
    if (entry !== undefined) this.remove(client, entry);
    return entry;
  }

  /** Removes an entry from its line. */
  remove(client: string, entry: Entry): void {
    const line = this.lines.get(client) ?? [];
    const at = line.indexOf(entry);
    if (at < 0) return;
    line.splice(at, 1);
    if (line.length === 0) this.lines.delete(client);
    this.count(entry, -1);
  }

  private count(entry: Entry, sign: 1 | -1): void {
    this.length += sign;
    this.taken += sign * this.roomOf(entry);
  }

  private longest(): string {
    let longest = '';
    for (const [client, line] of this.lines) if (line.length > this.sizeOf(longest)) longest = client;
    return longest;
  }
}
