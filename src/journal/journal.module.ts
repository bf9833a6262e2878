import { Global, Module } from '@nestjs/common';
import { ChangeRecords } from '../access/clients/changes';
import { MetricsModule } from '../http/metrics/metrics.module';
import { AccessJournal } from './access-journal';
import { ActivityJournal } from './activity';
import { CallJournal } from './call-journal';
import { DatabaseBehindStop } from './stops';
import { ExpectedFees } from './expected-fees';
import { KeysPaidTwiceMetric } from './keys-paid-twice';
import { LocalCopies } from './local-copies';
import { RecentContents } from './recent-contents';
import { RefusalWriter } from './refusals';
import { SpooledOutcomes } from './spooled-outcomes';
import { UnheardStatuses } from './unheard-statuses';

const EXPORTED = [
  AccessJournal,
  CallJournal,
  ExpectedFees,
  LocalCopies,
  RecentContents,
  SpooledOutcomes,
  UnheardStatuses,
];

@Global() // for ChangeRecords: clients are below the journal and must not import it
@Module({
  imports: [MetricsModule],
  providers: [
    { provide: ChangeRecords, useClass: ActivityJournal },
    ...EXPORTED,
    DatabaseBehindStop,
    KeysPaidTwiceMetric,
    RefusalWriter,
  ],
  exports: [ChangeRecords, ...EXPORTED],
})
export class JournalModule {}
