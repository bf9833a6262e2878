import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../platform/config/config.module';
import { PrismaService } from '../platform/database/prisma.service';
import { NewResolution, NewVerdict } from './records';
import { insertResolution, SettledAfter, settledAfter } from './resolutions';
import { insertVerdict } from './resolver-verdicts';

/** Records how calls in doubt are settled: by a person, or from the upstream's own lists. */
@Injectable()
export class ResolutionJournal {
  private readonly settledAfter: SettledAfter;

  constructor(
    private readonly prisma: PrismaService,
    config: ConfigService<Loaded, true>,
  ) {
    this.settledAfter = settledAfter(config.get('settings', { infer: true }));
  }

  /**
   * Resolves once the resolution is durable. @returns false if it was not written, because another one is in effect.
   */
  resolve(resolution: NewResolution): Promise<boolean> {
    return insertResolution(this.prisma, resolution, this.settledAfter);
  }

  /**
   * Resolves once the verdict about a call in doubt is durable. Unless it is ambiguous, it settles the call.
   * @returns false if nothing was written: the call is no longer in doubt, or the verdict is not new.
   */
  judge(verdict: NewVerdict): Promise<boolean> {
    return insertVerdict(this.prisma, verdict, this.settledAfter);
  }
}
