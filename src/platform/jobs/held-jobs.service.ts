import { Injectable } from '@nestjs/common';
import { LOCKS } from '../database/locks';
import { SidePrisma } from '../database/pools/side-prisma';
import { JOB_NAMES, JobName, JOBS } from './job';

/** Reads the jobs that a worker holds from the locks of the workers. A lock ends with its process. */
@Injectable()
export class HeldJobsService {
  constructor(private readonly prisma: SidePrisma) {}

  async read(): Promise<ReadonlySet<JobName>> {
    const rows = await this.prisma.$queryRaw<{ job: number }[]>`
      SELECT DISTINCT objid::integer AS job FROM pg_locks
      WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = ${LOCKS.job}::oid
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    const held = new Set(rows.map(({ job }) => job));
    return new Set(JOB_NAMES.filter((name) => held.has(JOBS[name])));
  }
}
