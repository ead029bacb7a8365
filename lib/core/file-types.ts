/** The types that files are served as, by their first bytes. Everything else is `application/octet-stream`. */
export const FILE_TYPES = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'video/mp4',
  'video/webm',
  'video/ogg',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'audio/wav',
  'audio/flac',
  'application/pdf',
  'application/octet-stream',
] as const

export type FileType = (typeof FILE_TYPES)[number]

/** The types of photos that users set. */
export const PHOTO_TYPES: readonly FileType[] = ['image/jpeg', 'image/png', 'image/webp']

/** The types of thumbnails. */
export const THUMBNAIL_TYPES: readonly FileType[] = ['image/webp', 'image/png', 'image/jpeg']
