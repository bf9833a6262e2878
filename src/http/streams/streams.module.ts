import { Module } from '@nestjs/common';
import { AuthModule } from '../../access/auth/auth.module';
import { EventStreams } from './event-streams.service';

@Module({ imports: [AuthModule], providers: [EventStreams], exports: [EventStreams] })
export class StreamsModule {}
