import { Module } from '@nestjs/common';
import { JournalService } from './journal.service';
import { RecentContents } from './recent-contents';

@Module({ providers: [JournalService, RecentContents], exports: [JournalService] })
export class JournalModule {}
