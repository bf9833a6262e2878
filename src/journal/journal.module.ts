import { Global, Module } from '@nestjs/common';
import { ChangeRecords } from '../access/clients/changes';
import { AccessJournal } from './accesses';
import { ActivityJournal } from './activity';
import { JournalService } from './journal.service';
import { RecentContents } from './recent-contents';
import { SourceJournal } from './sources';

@Global() // for ChangeRecords: clients are below the journal, and must not import it
@Module({
  providers: [
    AccessJournal,
    { provide: ChangeRecords, useClass: ActivityJournal },
    JournalService,
    RecentContents,
    SourceJournal,
  ],
  exports: [AccessJournal, ChangeRecords, JournalService, RecentContents, SourceJournal],
})
export class JournalModule {}
