import { ChatError } from '../core/errors.ts'
import { S3Error } from '../storage/objects/s3-client.ts'

/** Errors of a file system without room, or whose quota of the user is used up. */
const NO_ROOM = ['ENOSPC', 'EDQUOT']

/** Errors of S3-compatible servers without room. */
const NO_ROOM_S3 = /^(XMinioStorageFull|XMinioAdminBucketQuotaExceeded|QuotaExceeded|InsufficientCapacity|TooMuchData)$/

/** The failure of a store of files, for a caller: `storage_full`, else `unavailable`; the reason is its cause. */
export function toStoreFailure(error: unknown): ChatError {
  if (error instanceof ChatError) return error
  const isFull =
    error instanceof S3Error
      ? error.status === 507 || NO_ROOM_S3.test(error.code)
      : NO_ROOM.includes(String((error as NodeJS.ErrnoException | undefined)?.code))
  if (isFull) return new ChatError('storage_full', { cause: error })
  return new ChatError('unavailable', {
    message: 'The store of files does not answer right now.',
    cause: error,
    retry_after_seconds: 5,
  })
}
