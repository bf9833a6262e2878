/** A commit about a call: its admission, outcome or approval. */
export type CommitKind = 'admitted' | 'answered' | 'approved';

interface Commit {
  kind: CommitKind;
  callId: string;
  /** Time of the acknowledgement, by the monotonic clock. */
  at: number;
}

/**
 * Number of kept commits. An old database lacks the end of its write-ahead log: if it lacks a commit, it
 * lacks all later ones, so the newest are enough. One is not enough, because concurrent commits are
 * acknowledged in any order.
 */
const KEPT = 500;

/** The newest commits acknowledged to this process since the last confirmed heartbeat. */
export class RecentCommits {
  private commits: Commit[] = [];

  add(kind: CommitKind, callId: string): void {
    this.commits.push({ kind, callId, at: performance.now() });
    if (this.commits.length >= 2 * KEPT) this.commits = this.commits.slice(-KEPT);
  }

  /** Drops commits that were acknowledged before an instant of the monotonic clock. */
  forgetBefore(monotonicMs: number): void {
    this.commits = this.commits.filter(({ at }) => at >= monotonicMs);
  }

  clear(): void {
    this.commits = [];
  }

  /** Returns the call IDs of a kind of commit. */
  idsOf(kind: CommitKind): string[] {
    return this.commits.filter((commit) => commit.kind === kind).map(({ callId }) => callId);
  }
}
