import { Global, Module } from '@nestjs/common';
import { ChangeRecords } from '../access/clients/changes';
import { ActivityJournal } from './activity';
import { CallJournal } from './call-journal';
import { RecentContents } from './recent-contents';
import { UnheardStatuses } from './unheard-statuses';

@Global() // for ChangeRecords: clients are below the journal and must not import it
@Module({
  providers: [{ provide: ChangeRecords, useClass: ActivityJournal }, CallJournal, RecentContents, UnheardStatuses],
  exports: [CallJournal, ChangeRecords, RecentContents, UnheardStatuses],
})
export class JournalModule {}
