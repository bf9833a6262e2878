import { Global, Module } from '@nestjs/common';
import { ChangeRecords } from '../access/clients/changes';
import { ActivityJournal } from './activity';
import { CallJournal } from './call-journal';
import { RecentContents } from './recent-contents';

@Global() // for ChangeRecords: clients are below the journal and must not import it
@Module({
  providers: [{ provide: ChangeRecords, useClass: ActivityJournal }, CallJournal, RecentContents],
  exports: [CallJournal, ChangeRecords, RecentContents],
})
export class JournalModule {}
