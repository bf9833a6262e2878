import { Global, Module } from '@nestjs/common';
import { ChangeRecords } from '../access/clients/changes';
import { AccessJournal } from './accesses';
import { ActivityJournal } from './activity';
import { CallJournal } from './call-journal';
import { RecentContents } from './recent-contents';
import { ResolutionJournal } from './resolution-journal';
import { SourceJournal } from './sources';

@Global() // for ChangeRecords: clients are below the journal and must not import it
@Module({
  providers: [
    AccessJournal,
    { provide: ChangeRecords, useClass: ActivityJournal },
    CallJournal,
    RecentContents,
    ResolutionJournal,
    SourceJournal,
  ],
  exports: [AccessJournal, CallJournal, ChangeRecords, RecentContents, ResolutionJournal, SourceJournal],
})
export class JournalModule {}
