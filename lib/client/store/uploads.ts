import type { Attachment } from '../../api/attachments.ts'
import { partOf, type StoreBase } from './base.ts'
import { type Cell, createCell, type Readable } from './cell.ts'
import type { ChatStore } from './index.ts'

/** A file for a message that is being written. */
export interface FileUpload {
  /** The key of the upload in this page: the attachment has an id of its own. */
  key: string
  file: Blob
  name: string
  size: number
  /** Bytes that have arrived. */
  sent: number
  /** `checking`: a scanner checks it; `failed` with the error, until it is retried or removed. */
  status: 'waiting' | 'uploading' | 'checking' | 'ready' | 'failed'
  /** Once the upload has begun. */
  attachment?: Attachment
  /** `undefined` unless it has failed. */
  error?: unknown
}

/** The files of messages that are being written. A draft is any text, such as the id of the message that is answered. */
export interface StoreUploads {
  list(conversation_id: string, draft?: string): Readable<readonly FileUpload[]>
  /**
   * Uploads files, one after another.
   *
   * @throws RangeError for more than 10 of a draft
   */
  add(conversation_id: string, files: readonly File[], draft?: string): void
  /** Goes on with an upload that has failed. */
  retry(key: string): void
  /** Breaks an upload off, and removes what the service has of it. */
  remove(key: string): void
  /** The files that are ready, for a post: they leave the list. */
  take(conversation_id: string, draft?: string): Attachment[]
}

/** The uploads of a store: the same at each call. */
export function uploadsOf(store: ChatStore): StoreUploads {
  return partOf(store, createUploads)
}

/** The maximum number of files of a message. */
const MAX_FILES = 10

type List = Cell<readonly FileUpload[]>

function createUploads({ client, feed }: StoreBase): StoreUploads {
  const drafts = createDrafts()
  let queue: Promise<unknown> = Promise.resolve()
  let leave: (() => void) | undefined
  let count = 0

  function start(conversation_id: string, list: List, upload: FileUpload): void {
    const signal = drafts.signalOf(upload.key)
    const onChange = (by: Partial<FileUpload>) => drafts.change(list, upload.key, by)
    queue = queue.then(async () => {
      try {
        const { sendFile } = await import('./upload-file.ts')
        await sendFile(client, conversation_id, upload, { onChange, signal })
      } catch (error) {
        if (!signal.aborted) onChange({ status: 'failed', error })
      }
    })
  }

  function drop(list: List, isDropped: (upload: FileUpload) => boolean): readonly FileUpload[] {
    const dropped = drafts.drop(list, isDropped)
    if (drafts.areEmpty()) {
      leave?.()
      leave = undefined
    }
    return dropped
  }

  function dropAll(): void {
    for (const list of drafts.all()) drop(list, () => true)
  }

  return {
    list: drafts.get,
    add(conversation_id, files, draft) {
      const list = drafts.get(conversation_id, draft)
      if (list.getSnapshot().length + files.length > MAX_FILES)
        throw new RangeError(`A message has at most ${MAX_FILES} files`)
      // The files of another user are none of this one's.
      leave ??= feed.join({ reset: dropAll })
      const added = files.map((file): FileUpload => {
        const { name, size } = file
        return { key: String(++count), file, name, size, sent: 0, status: 'waiting' }
      })
      list.set([...list.getSnapshot(), ...added])
      for (const upload of added) start(conversation_id, list, upload)
    },
    retry(key) {
      const { conversation_id, list, upload } = drafts.locate(key) ?? {}
      if (!list || upload?.status !== 'failed') return
      drafts.change(list, key, { status: 'waiting', error: undefined })
      start(conversation_id!, list, upload)
    },
    remove(key) {
      const { list, upload } = drafts.locate(key) ?? {}
      if (!list) return
      drop(list, (item) => item === upload)
      // What is not removed is deleted a day later.
      if (upload?.attachment) void client.attachments.remove(upload.attachment.id).catch(() => {})
    },
    take(conversation_id, draft) {
      const ready = drop(drafts.get(conversation_id, draft), ({ status }) => status === 'ready')
      return ready.map(({ attachment }) => attachment!)
    },
  }
}

/** The files of each draft, and what breaks off their uploads. */
function createDrafts() {
  const lists = new Map<string, List>()
  const aborts = new Map<string, AbortController>()
  return {
    get(conversation_id: string, draft = ''): List {
      const id = `${conversation_id} ${draft}`
      const list = lists.get(id) ?? createCell<readonly FileUpload[]>([])
      lists.set(id, list)
      return list
    },
    all: () => [...lists.values()],
    areEmpty: () => [...lists.values()].every((list) => list.getSnapshot().length === 0),
    locate(key: string) {
      for (const [id, list] of lists) {
        const upload = list.getSnapshot().find((upload) => upload.key === key)
        if (upload) return { conversation_id: id.split(' ')[0]!, list, upload }
      }
      return undefined
    },
    change(list: List, key: string, by: Partial<FileUpload>): void {
      list.set(list.getSnapshot().map((upload) => (upload.key === key ? { ...upload, ...by } : upload)))
    },
    /** @returns those that have left */
    drop(list: List, isDropped: (upload: FileUpload) => boolean): readonly FileUpload[] {
      const dropped = list.getSnapshot().filter(isDropped)
      for (const { key } of dropped) {
        aborts.get(key)?.abort()
        aborts.delete(key)
      }
      if (dropped.length > 0) list.set(list.getSnapshot().filter((upload) => !isDropped(upload)))
      return dropped
    },
    signalOf(key: string): AbortSignal {
      const abort = new AbortController()
      aborts.set(key, abort)
      return abort.signal
    },
  }
}
