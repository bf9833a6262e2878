import { Global, Module } from '@nestjs/common';
import { ChangeRecords } from '../access/clients/changes';
import { MetricsModule } from '../http/metrics/metrics.module';
import { AccessJournal } from './activity/access-journal';
import { ActivityJournal } from './activity/activity';
import { ExpectedFees } from './admission/expected-fees';
import { CallJournal } from './call-journal';
import { LocalCopies } from './copies/local-copies';
import { RefusalWriter } from './outcomes/refusals';
import { UnknownStatuses } from './outcomes/unknown-statuses';
import { SpooledOutcomes } from './recovery/spooled-outcomes';
import { AlarmMetrics } from './settlement/alarms';
import { DatabaseBehindStop } from './stops/stops';

const EXPORTED = [AccessJournal, CallJournal, ExpectedFees, LocalCopies, SpooledOutcomes, UnknownStatuses];

@Global() // For ChangeRecords: clients are below the journal and must not import it.
@Module({
  imports: [MetricsModule],
  providers: [
    { provide: ChangeRecords, useClass: ActivityJournal },
    ...EXPORTED,
    DatabaseBehindStop,
    AlarmMetrics,
    RefusalWriter,
  ],
  exports: [ChangeRecords, ...EXPORTED],
})
export class JournalModule {}
