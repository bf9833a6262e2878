import { EpochService } from '../continuity/fence/epoch.service';
import { ProcessService } from '../continuity/fence/process.service';
import { RunningConfig, loadConfig } from '../platform/config/config';
import { PrismaService } from '../platform/database/pools/prisma.service';
import { ExpectedFees } from './admission/expected-fees';
import { CallJournal } from './call-journal';
import { LocalCopies } from './copies/local-copies';
import { RefusalWriter } from './outcomes/refusals';
import { NewOutcome } from './records/records';
import { SpooledOutcomes } from './recovery/spooled-outcomes';

function outcome(size: number): NewOutcome {
  return {
    intentId: '01999999-0000-7000-8000-000000000000',
    kind: 'succeeded',
    failure: null,
    upstreamStatus: 200,
    contentType: null,
    retryAfter: null,
    body: Buffer.alloc(size),
    items: [],
    answerOf: null,
    sentAt: new Date(0),
    answeredAt: new Date(0),
    upstreamMs: 1,
    attempts: 1,
    tries: [],
  };
}

function journalOn(prisma: PrismaService, remember: EpochService['remember'] = () => undefined): CallJournal {
  return new CallJournal(
    prisma,
    { number: 1 } as ProcessService,
    {} as SpooledOutcomes,
    { addOutcome: () => undefined } as unknown as LocalCopies,
    {} as ExpectedFees,
    { remember } as EpochService,
    {} as RefusalWriter,
    loadConfig({}) as RunningConfig,
  );
}

describe('CallJournal', () => {
  it.each([
    ['writes small bodies in one commit', 1_000, 1],
    ['writes large bodies separately, because one statement could not hold them', 3_000_000, 3],
  ])('%s', async (_rule, size, commits) => {
    const prepared = jest.fn(() => Promise.resolve([]));
    const prisma = { prepared } as unknown as PrismaService;
    const journal = journalOn(prisma);
    await Promise.all([1, 2, 3].map(() => journal.close(outcome(size), true)));
    expect(prepared).toHaveBeenCalledTimes(commits);
  });

  it('counts an existing outcome as seen only once its commit is confirmed', async () => {
    const order: string[] = [];
    const prepared = jest
      .fn()
      .mockRejectedValueOnce(new Error('the connection was lost'))
      .mockResolvedValue([]);
    const confirm = () => Promise.resolve(order.push('confirmed'));
    const prisma = { prepared, confirm, $queryRaw: () => Promise.resolve([]) } as unknown as PrismaService;
    await journalOn(prisma, () => order.push('remembered')).close(outcome(1), false);
    expect(order).toEqual(['confirmed', 'remembered']);
  });
});
