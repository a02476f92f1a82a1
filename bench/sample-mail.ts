// The mail that every run sends: an order confirmation, 2 KB of HTML and text together, with the few
// characters beyond ASCII that such mails have, so that its parts need an encoding.

const ITEMS = ['Desk lamp “Kappa”, brass', 'Notebook A5, dotted, 160 pages', 'Fountain pen, fine nib'];

function row(item: string, index: number): string {
  return `<tr><td style="padding:6px 12px">${item}</td><td style="padding:6px 12px;text-align:right">${12 + index},50 €</td></tr>`;
}

const HTML = `<!doctype html><html><body style="margin:0;background:#f4f4f4;font-family:Arial,sans-serif">
<table width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">
<table width="600" style="background:#ffffff;border:1px solid #dddddd">
<tr><td style="padding:20px"><h1 style="font-size:22px;color:#222222">Thank you for your order</h1>
<p>Dear customer, we have received your order and will send it within two working days. As soon as it leaves our warehouse you will get another message with the number of the parcel.</p>
<p style="color:#555555">You may change or cancel your order until it is on its way: answer this mail, or call us from Monday to Friday between nine and five. Please have the number of your order at hand.</p></td></tr>
${ITEMS.map(row).join('\n')}
<tr><td style="padding:20px"><a href="https://shop.example.com/orders/track?reference=4711" style="background:#0b6bcb;color:#ffffff;padding:10px 18px">Follow your order</a></td></tr>
</table></td></tr></table></body></html>`;

const TEXT = `Thank you for your order

Dear customer, we have received your order and will send it within two working
days. As soon as it leaves our warehouse you will get another message with the
number of the parcel. You may change or cancel your order until it is on its
way: answer this mail, or call us from Monday to Friday between nine and five.

${ITEMS.map((item, index) => `  ${item}: ${12 + index},50 €`).join('\n')}

Follow your order: https://shop.example.com/orders/track?reference=4711

The people of the Example Shop, Market Street 1, 12345 Example Town
`;

export const SAMPLE = { subject: 'Your order is confirmed', html: HTML, text: TEXT };
