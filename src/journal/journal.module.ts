import { Module } from '@nestjs/common';
import { AccessJournal } from './accesses';
import { JournalService } from './journal.service';
import { RecentContents } from './recent-contents';
import { SourceJournal } from './sources';

@Module({
  providers: [AccessJournal, JournalService, RecentContents, SourceJournal],
  exports: [AccessJournal, JournalService, RecentContents, SourceJournal],
})
export class JournalModule {}
