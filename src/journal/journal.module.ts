import { Module } from '@nestjs/common';
import { AccessJournal } from './accesses';
import { JournalService } from './journal.service';
import { RecentContents } from './recent-contents';

@Module({
  providers: [AccessJournal, JournalService, RecentContents],
  exports: [AccessJournal, JournalService, RecentContents],
})
export class JournalModule {}
