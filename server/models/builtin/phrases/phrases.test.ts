import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offersPerson } from '../../../text/people/asks-for-person.ts'
import { TALK_WORDS } from '../../../text/talk/talk-table.ts'
import type { TalkLanguage } from '../../../text/talk/talk-words.ts'
import { handoverText } from './handover-text.ts'
import { isClosest, languageEndingWith, phrasesFor } from './phrases.ts'

test('what the responder has said is recognised in every language', () => {
  for (const language of Object.keys(TALK_WORDS) as TalkLanguage[]) {
    const { offer, decline, thanks, closest } = phrasesFor(language)
    assert.ok(offersPerson(`${decline} ${offer}`), offer)
    assert.equal(languageEndingWith(`${decline} ${offer}`, 'offer'), language)
    assert.equal(languageEndingWith(thanks, 'thanks'), language)
    assert.ok(!offersPerson(thanks), thanks)
    assert.ok(isClosest(`${closest}\n\nA lamp. [1]`) && !isClosest(decline))
    assert.ok(handoverText(language, { status: 'success', data: { opensAt: '2026-03-02T08:00:00Z' } }))
  }
})
