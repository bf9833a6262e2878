import { Global, Module } from '@nestjs/common';
import { ChangeRecords } from '../access/clients/changes';
import { MetricsModule } from '../http/metrics/metrics.module';
import { AccessJournal } from './activity/access-journal';
import { ActivityJournal } from './activity/activity';
import { CallJournal } from './call-journal';
import { DatabaseBehindStop } from './stops/stops';
import { ExpectedFees } from './admission/expected-fees';
import { KeysPaidTwiceMetric } from './settlement/keys-paid-twice';
import { LocalCopies } from './copies/local-copies';
import { RecentContents } from './admission/recent-contents';
import { RefusalWriter } from './outcomes/refusals';
import { SpooledOutcomes } from './recovery/spooled-outcomes';
import { UnheardStatuses } from './outcomes/unheard-statuses';

const EXPORTED = [
  AccessJournal,
  CallJournal,
  ExpectedFees,
  LocalCopies,
  RecentContents,
  SpooledOutcomes,
  UnheardStatuses,
];

@Global() // For ChangeRecords: clients are below the journal and must not import it.
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
