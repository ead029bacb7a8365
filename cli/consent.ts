import type { FileCheckup } from '../lib/ops/files/file-check.ts'

/** What a repair asks for before it marks that many files. */
export function consentNote({ files, missing }: Pick<FileCheckup, 'files' | 'missing'>): string {
  return `${missing} files are missing, of ${files}, and none was marked: mount their disk, correct attachments.storage, or restore them with --files. If they are lost: "chat-server fsck --files --repair --accept-loss ${missing}".`
}
