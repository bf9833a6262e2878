/** What was committed about a call: its admission, its outcome, or its approval. */
export type CommitKind = 'admitted' | 'answered' | 'approved';

interface Commit {
  kind: CommitKind;
  callId: string;
  /** When it was remembered, by the monotonic clock. */
  at: number;
}

/**
 * An old database lacks the end of its write-ahead log. If it lacks a commit, it lacks all later ones, so the newest
 * commits are enough. Commits that were in flight together are acknowledged in any order, so more than one is kept.
 */
const KEPT = 500;

/** The newest commits that were acknowledged to this process since the last confirmed heartbeat. */
export class RecentCommits {
  private commits: Commit[] = [];

  add(kind: CommitKind, callId: string): void {
    this.commits.push({ kind, callId, at: performance.now() });
    if (this.commits.length >= 2 * KEPT) this.commits = this.commits.slice(-KEPT);
  }

  /** Forgets what was acknowledged before an instant of the monotonic clock. */
  forgetBefore(monotonicMs: number): void {
    this.commits = this.commits.filter(({ at }) => at >= monotonicMs);
  }

  clear(): void {
    this.commits = [];
  }

  /** Returns the IDs of the calls that a kind of commit is about. */
  idsOf(kind: CommitKind): string[] {
    return this.commits.filter((commit) => commit.kind === kind).map(({ callId }) => callId);
  }
}
