import type { Queries } from '../../storage/database.ts'
import { type Attaching, chooseFiles, notReady } from './rules.ts'
import { type AttachmentRow, listOfQuestions } from './store.ts'
import { type EarlierAnswer, listSet } from './store-earlier.ts'

/** A question that is asked again, or edited: its answer becomes a variant. */
export interface AskedAgain {
  variant_of: string
  content: string
  /** The message below which it is asked. */
  parent_id: string | null
}

/** What earlier answers to a question, or to another text of it, have of it. */
export interface EarlierFiles {
  asked: AskedAgain
  answers: readonly EarlierAnswer[]
  /** The files of their questions, in their order. */
  files: AttachmentRow[]
}

/** The files of the earlier answers of a set, without those that are deleted. */
export async function readEarlier(db: Queries, asked: AskedAgain): Promise<EarlierFiles> {
  const answers = await listSet(db, asked.variant_of, asked.content)
  const live = answers.flatMap(({ id, is_deleted }) => (is_deleted ? [] : id))
  return { asked, answers, files: live.length > 0 ? await listOfQuestions(db, live) : [] }
}

/** A file that a question gets: one that no message has, or a copy of one that an earlier answer has. */
export interface ChosenFile {
  row: AttachmentRow
  is_copied: boolean
}

/**
 * The files of a question that is asked again, in the order of their ids: exactly those that are sent, of which earlier answers may
 * have some, or, where no list is sent, those of the question before. What its parent has is there already. A file is left out that
 * was refused, or whose bytes are deleted.
 *
 * @throws ChatError as {@link chooseFiles}; `attachment_not_ready` while a file of an earlier answer is checked
 */
export function chooseAgain(
  rows: readonly AttachmentRow[],
  ids: readonly string[] | undefined,
  { earlier, to }: { earlier: EarlierFiles; to: Attaching },
): ChosenFile[] {
  if (ids === undefined) return filesBefore(earlier).flatMap(toCopied)
  const chosen = ids.flatMap((id): ChosenFile[] => {
    const row = rows.find((file) => file.id === id)
    if (row && row.message_id !== null) {
      if (row.message_id === earlier.asked.parent_id) return []
      const owner = earlier.answers.find((answer) => answer.id === row.message_id)
      if (owner && row.generated !== 1) return toCopied(owner.is_deleted ? twinOf(row, earlier) : row)
    }
    return chooseFiles(rows, [id], to).map((each) => ({ row: each, is_copied: false }))
  })
  return [...new Map(chosen.map((file) => [file.row.id, file])).values()]
}

/** The files of the answer that is named, or of the latest one with this question. */
function filesBefore({ asked, answers, files }: EarlierFiles): AttachmentRow[] {
  const live = answers.filter(({ is_deleted }) => !is_deleted)
  const same = live.filter(({ is_same }) => is_same)
  const named = ({ id }: EarlierAnswer) => id === asked.variant_of
  const before = same.find(named) ?? same.at(-1) ?? live.find(named)
  return files.filter(({ message_id }) => message_id === before?.id)
}

/** A file with these bytes in an answer that is not deleted. */
const twinOf = ({ blob_id }: AttachmentRow, { files }: EarlierFiles) =>
  blob_id === null ? undefined : files.find((file) => file.blob_id === blob_id)

function toCopied(row: AttachmentRow | undefined): ChosenFile[] {
  if (row?.status === 'scanning') throw notReady(row)
  return row?.status === 'ready' && row.blob_id !== null ? [{ row, is_copied: true }] : []
}
