import type { Attachment, Message } from 'chat-server/client'
import { useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { hrefOf } from '../app/route.ts'
import { FileName } from '../files/file-name.tsx'
import { sizeText } from '../files/size-text.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Icon } from '../parts/icon.tsx'
import { useVisible } from '../parts/visible.ts'
import { useResults } from '../search/use-results.ts'
import { roomTexts } from '../texts/room.ts'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { authorOf } from '../threads/author.ts'
import type { TabProps } from './pane.tsx'

/** The files of the messages of a conversation, newest first. */
export function Files({ conversation: { id } }: TabProps) {
  const { results, status, error, has_more, more } = useResults({ name: 'search', q: '', in: id, has: 'file' })
  const end = useRef<HTMLLIElement>(null)
  useVisible(end, more, has_more)
  const files = results.flatMap(({ message }) => (message.attachments ?? []).map((file) => ({ file, message })))
  return (
    <>
      <ErrorNote error={error} />
      {status === 'ready' && files.length === 0 && <p class="quiet">{roomTexts.value.details.no_files}</p>}
      <ul class="items shared-files">
        {files.map(({ file, message }) => (
          <FileItem key={`${message.id} ${file.id}`} file={file} message={message} />
        ))}
        {(has_more || status === 'loading') && (
          <li ref={end} class="quiet">
            {texts.value.loading}
          </li>
        )}
      </ul>
    </>
  )
}

function FileItem({ file: { id, name, size, status }, message }: { file: Attachment; message: Message }) {
  const { people, client_options } = useApp()
  const { conversation_id, root_id, id: message_id, created_at } = message
  const route = { conversation_id, message_id } as const
  return (
    <li>
      <Icon name="file" />
      <span class="name">
        {status === 'ready' ? (
          <a href={`${client_options.base_url}/api/attachments/${id}/content`} download={name}>
            <FileName name={name} />
          </a>
        ) : (
          <FileName name={name} />
        )}
        <small>
          {sizeText(size)} · <bdi>{authorOf(message, people)}</bdi> ·{' '}
          <a
            href={hrefOf(
              root_id === message_id ? { name: 'conversation', ...route } : { name: 'thread', ...route, root_id },
            )}
          >
            <time datetime={created_at} title={longTime(created_at)}>
              {shortTime(created_at)}
            </time>
          </a>
        </small>
      </span>
    </li>
  )
}
