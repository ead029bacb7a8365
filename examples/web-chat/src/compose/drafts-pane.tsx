import type { User } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { hrefOf } from '../app/route.ts'
import { ConversationSign } from '../conversations/sign.tsx'
import { titleOf } from '../conversations/title.ts'
import { plainOf } from '../markdown/plain.ts'
import { Avatar } from '../parts/avatar.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { useRoving } from '../parts/roving.ts'
import { SettingsPane } from '../parts/settings-pane.tsx'
import { composeTexts } from '../texts/compose.ts'
import { texts } from '../texts/texts.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { draftsOf, forgetDraft } from './drafts.ts'

/** What was written on this device and not sent, the latest first. */
export function DraftsPane({ user }: { user: User }) {
  const drafts = draftsOf(user.id)
  const words = composeTexts.value.draft_list
  const { list, leave } = useRoving()
  return (
    <SettingsPane title={texts.value.drafts.title} tabs={[]} current="">
      {drafts.length === 0 && <p class="quiet">{words.empty}</p>}
      <ul class="inbox rows" {...list}>
        {drafts.map((draft) => (
          <DraftItem
            key={draft.place}
            draft={draft}
            onDiscard={() => {
              leave()
              forgetDraft(user.id, draft.place)
            }}
          />
        ))}
      </ul>
    </SettingsPane>
  )
}

interface ItemProps {
  draft: ReturnType<typeof draftsOf>[number]
  onDiscard: () => void
}

function DraftItem({ draft, onDiscard }: ItemProps) {
  const { store } = useApp()
  const { conversations } = useReadable(store.conversations)
  const { files, threads, conversations: places } = texts.value
  const words = composeTexts.value.draft_list
  const { place, conversation_id = place, topic = '', text, at } = draft
  const conversation = conversations.find(({ id }) => id === conversation_id)
  const isReply = place !== conversation_id
  const title = conversation ? titleOf(conversation) : places.untitled
  const time = new Date(at).toISOString()
  return (
    <li>
      <a
        href={hrefOf(
          isReply ? { name: 'thread', conversation_id, root_id: place } : { name: 'conversation', conversation_id },
        )}
      >
        {conversation ? <ConversationSign conversation={conversation} /> : <Avatar id={conversation_id} name={title} />}
        <span class="name" dir="auto">
          {title}
          {isReply && ` · ${threads.thread}`}
        </span>
        <time datetime={time} title={longTime(time)}>
          {shortTime(time)}
        </time>
        <span class="excerpt" dir="auto">
          {[topic, plainOf(text)].filter(Boolean).join(' · ') ||
            (draft.files ? files.count(draft.files.length) : words.quote)}
        </span>
      </a>
      <IconButton icon="trash" label={words.discard(title)} onClick={onDiscard} />
    </li>
  )
}
