/** How many requests go on in a second. */
export class Pace {
  private second = 0;
  private counted = 0;
  private before = 0;

  count(nowMs: number): void {
    this.turn(nowMs);
    this.counted += 1;
  }

  perSecond(nowMs: number): number {
    this.turn(nowMs);
    return Math.max(this.counted, this.before);
  }

  private turn(nowMs: number): void {
    const second = Math.floor(nowMs / 1_000);
    if (second === this.second) return;
    this.before = second === this.second + 1 ? this.counted : 0;
    this.counted = 0;
    this.second = second;
  }
}
