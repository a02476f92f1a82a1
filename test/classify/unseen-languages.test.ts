// Replies that are no samples of any rule: the reasons that there are, in the languages that servers speak, and
// what only sounds like a mailbox or domain that is missing.
import t from 'tap';
import { classifyReply } from '../../src/classify/classify-reply.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { readReply } from '../../src/classify/read-reply.ts';

const rules = loadBounceRules(SHIPPED_RULES);

/** The kinds that are right, then the reply. */
const IN_MANY_LANGUAGES = `
soft|550 Das Postfach ist voll
soft|552 Postfach des Empfängers hat sein Limit erreicht
soft|550 Der Speicherplatz des Empfängers ist erschöpft
soft|550 Boîte de réception saturée
soft|552 Le quota du destinataire est dépassé
soft|550 El buzón está lleno
soft|552 Se ha excedido la cuota del usuario
soft|550 Cuota de disco excedida
soft|550 A caixa de correio está cheia
soft|552 Limite de armazenamento excedido
soft|550 La casella di posta è piena
soft|552 Superata la quota della casella
soft|550 De mailbox is vol
soft|550 Postvak vol
soft|550 Skrzynka pocztowa jest pełna
soft|550 Przekroczony limit skrzynki
soft|550 Почтовый ящик переполнен
soft|552 Превышена квота
soft|550 Schránka je plná
soft|550 Posta kutusu dolu
soft|550 Kota aşıldı
soft|550 Brevlådan är full
soft|550 Postkassen er fuld
soft|550 Postilaatikko on täynnä
soft|550 A postafiók megtelt
soft|550 Το γραμματοκιβώτιο είναι γεμάτο
soft|550 メールボックスがいっぱいです
soft|550 受信者のメールボックスの容量を超えています
soft|550 邮箱已满
soft|550 收件人信箱已滿
soft|550 메일함이 가득 찼습니다
soft|550 Hộp thư đầy
soft|550 صندوق البريد ممتلئ
soft|550 Kotak surat penuh
soft|550 Căsuța poștală este plină
block|550 Nachricht abgelehnt: Spam
block|550 Ihre IP-Adresse steht auf einer Sperrliste
block|550 Absender nicht erlaubt
block|550 Zugriff verweigert
block|550 Inhalt nicht zugelassen
block|550 Anhang nicht erlaubt
block|550 Virus gefunden
block|550 Message rejeté par le filtre antispam
block|550 Votre adresse IP est sur liste noire
block|550 Accès refusé
block|550 Expéditeur refusé
block|550 Pièce jointe interdite
block|550 Mensaje rechazado por ser spam
block|550 Su IP está en una lista negra
block|550 Acceso denegado
block|550 Remitente rechazado
block|550 Archivo adjunto no permitido
block|550 Mensagem rejeitada como spam
block|550 Seu IP está bloqueado
block|550 Acesso negado
block|550 Remetente não autorizado
block|550 Messaggio respinto: spam
block|550 Il tuo IP è in blacklist
block|550 Accesso negato
block|550 Mittente non autorizzato
block|550 Bericht geweigerd wegens spam
block|550 Toegang geweigerd
block|550 Afzender geblokkeerd
block|550 Wiadomość odrzucona: spam
block|550 Dostęp zabroniony
block|550 Письмо отклонено как спам
block|550 Ваш IP-адрес заблокирован
block|550 Доступ запрещён
block|550 Отправитель заблокирован
block|550 Zpráva odmítnuta: spam
block|550 Spam nedeniyle reddedildi
block|550 IP adresiniz engellendi
block|550 スパムとして拒否されました
block|550 アクセスが拒否されました
block|550 送信元IPがブロックされています
block|550 您的IP被列入黑名单
block|550 垃圾邮件，拒收
block|550 邮件内容违规
block|550 스팸으로 차단되었습니다
block|550 Thư bị từ chối vì spam
soft,block|552 Nachricht zu groß
soft,block|552 Message trop volumineux
soft,block|552 El mensaje es demasiado grande
soft,block|552 A mensagem é muito grande
soft,block|552 Il messaggio è troppo grande
soft,block|552 Сообщение слишком большое
soft,block|552 邮件太大
soft,block|552 メッセージが大きすぎます
soft|550 Zeitüberschreitung beim Verbinden
soft|550 Délai d'attente dépassé
soft|550 Tiempo de espera agotado
soft|550 Zustellung nach 5 Tagen aufgegeben
hard|550 Die Domain existiert nicht
hard|550 Le domaine n'existe pas
hard|550 El dominio no existe
hard|550 O domínio não existe
hard|550 Il dominio non esiste
hard|550 Домен не существует
hard|550 域名不存在
hard|550 ドメインが存在しません
hard|550 Host unbekannt
hard|550 Domaine inconnu
hard|550 Dominio desconocido
hard|550 Postfach existiert nicht mehr
hard,soft|550 Das Konto wurde gesperrt
hard|550 Das Konto wurde gelöscht
hard|550 Ce compte a été supprimé
hard,soft|550 Compte désactivé
hard,soft|550 La cuenta ha sido desactivada
hard|550 La cuenta ha sido eliminada
hard,soft|550 Conta desativada
hard,soft|550 Account disattivato
hard|550 Аккаунт удалён
hard,soft|550 Ящик заблокирован
hard,soft|550 账号已停用
hard|550 账号已注销
`;

/** Something else is unknown, missing or closed: our address, a field, a password, a route, a file. */
const NOT_HARD = `
550 5.1.1 <ann@rcpt.test>: Recipient address rejected: undeliverable address: host mx.rcpt.test[192.0.2.1] said: 554 5.7.1 Client host blocked (in reply to MAIL FROM command)
550 5.1.1 <ann@rcpt.test>: Recipient address rejected: undeliverable address: connect to mx.rcpt.test[192.0.2.1]:25: Connection timed out
450 4.1.1 <ann@rcpt.test>: Recipient address rejected: unverified address: host mx said: 550 user unknown
550 sender verify fail for <a@acme.test>: No such user
550 Sender address rejected: no such user here
550 5.7.1 <a@acme.test>: User unknown in sender table
550 Domain of sender does not exist
550 Host unknown: your HELO name cannot be resolved
550 5.4.4 Host not found, try again
550 5.2.0 user unknown: can't open /var/mail/ann: No such file or directory
554 unknown mailer error 127
550 Invalid address in From header
550 Invalid email address in From:
550 invalid address in header Reply-To
554 Header error: no valid address in To
501 5.1.7 Bad sender address syntax
553 5.1.7 sender address does not exist
550 No such domain at this location
550 we do not accept mail for this domain
550 I do not know this domain: relaying denied
550 unknown or unresolvable HELO
550 certificate not found
550 no such message
550 5.1.1 mailbox temporarily unavailable
550 5.1.1 account temporarily disabled
550 user has not been activated yet
550 user over quota, mailbox not found in overflow store
550 5.1.1 Your IP address is unknown to us
550 Unknown client, user must authenticate
550 Invalid user or password
535 5.7.8 Error: authentication failed: user unknown
550 your account does not exist
550 your account has been disabled
550 5.7.1 Your mailbox is disabled, contact your provider
550 The account you used for sending has been closed
550 5.7.0 Message rejected: the domain acme.test in your message does not exist
550 The link domain does not exist
550 no MX record found for domain acme.test (sender)
553 5.1.8 no MX record for acme.test: from domain not found
550 return address does not exist
550 reply address unknown
550 unknown charset
550 file not found
550 command unknown
500 unknown command USER
550 mailing list not found in your permissions
550 you are not a known user of this list
550 5.7.1 Unknown sender, recipient only accepts known contacts
550 policy not found for recipient
550 no such rule for recipient
550 mailbox not found on this server, try other MX
550 directory lookup failed, user not found, try again later
550 LDAP error: user not found in cache, temporary failure
550 User not available at this time
550 Mailbox in use
550 Mailbox locked
550 recipient mailbox not available
550 The recipient does not exist in our whitelist
550 Recipient not on guest list
550 the address is not allowed to receive external mail
550 Your message was not delivered because the sender does not exist
550 Spam: unknown users in list
550 Too many unknown users
550 too many invalid recipients, closing
550 DNSBL: user unknown list
550 reverse DNS: host not found
550 cannot resolve your hostname, host not found
554 5.7.1 Helo: host not found
550 5.7.25 no PTR: name not found
550 SPF: domain not found
550 DKIM: key not found
550 message-id not valid, user agent unknown
550 recipients are limited, no such priority
550 Routing: next hop host not found
554 5.3.5 local configuration error: unknown host in route
550 relay host does not exist
550 Backend host not found
554 smarthost unknown
550 mailbox moved to another server, try again
`;

function linesOf(text: string): string[] {
  return text.trim().split('\n');
}

t.test('in many languages', async (t) => {
  for (const line of linesOf(IN_MANY_LANGUAGES)) {
    const [kinds, reply] = [line.slice(0, line.indexOf('|')), line.slice(line.indexOf('|') + 1)];
    const { class: bounce, rule } = classifyReply(readReply(reply), rules);
    t.ok(kinds.split(',').includes(bounce), `${reply}: ${bounce} by ${rule}`);
  }
});

t.test('what only sounds like a missing mailbox or domain', async (t) => {
  for (const reply of linesOf(NOT_HARD)) {
    const { class: bounce, rule } = classifyReply(readReply(reply), rules);
    t.not(bounce, 'hard', `${reply}: by ${rule}`);
  }
});
