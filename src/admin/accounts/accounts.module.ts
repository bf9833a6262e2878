import { Module } from '@nestjs/common';
import { UpstreamModule } from '../../gateway/upstream/upstream.module';
import { AccountsController } from './accounts.controller';
import { AccountsService } from './accounts.service';

@Module({ imports: [UpstreamModule], controllers: [AccountsController], providers: [AccountsService] })
export class AccountsModule {}
