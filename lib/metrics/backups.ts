import { createCounter, type Family, sharedGauge } from './page.ts'

/** The values of backups that are read for the page. */
interface BackupLevels {
  backups?: { last_success: number; overdue_seconds: number } | undefined
}

/** The metrics of backups. */
export function createBackupMetrics() {
  const failed = createCounter('chat_backups_failed_total', 'Backups that failed and are tried again')
  const families = ({ backups }: BackupLevels): Family[] => [
    sharedGauge(
      'chat_backup_last_success_seconds',
      'When the last backup was made, in seconds since 1970; 0 if there is none, or none is configured',
      backups?.last_success,
    ),
    sharedGauge(
      'chat_backup_overdue_seconds',
      'How long a backup has been due; 0 while none is',
      backups?.overdue_seconds,
    ),
    failed.family,
  ]
  return { failed, families }
}
