import { Inject, Injectable } from '@nestjs/common';
import { RunningConfig, SETTINGS } from '../../config/config';
import { PrismaService } from './prisma.service';

/** Number of connections for short statements. Two previews use up to four of them. */
export const SIDE_CONNECTIONS = 5;

/**
 * The connections of everything that is neither a payment nor a read of the history: keys of readers,
 * sessions, the access log, previews, stops, clients and metrics. The connections of payments stay free for
 * payments. Both are checked in the same way.
 */
@Injectable()
export class SidePrisma extends PrismaService {
  static override readonly sizeOf = () => ({ max: SIDE_CONNECTIONS, min: 0 });

  constructor(@Inject(SETTINGS) settings: RunningConfig, payments: PrismaService) {
    super(settings);
    this.checkLike(payments);
  }
}
